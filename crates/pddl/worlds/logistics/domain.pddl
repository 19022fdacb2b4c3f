; Trucks carry packages within cities, airplanes between them.
(define (domain logistics)
  (:requirements :strips :typing)
  (:types city place physobj - object
          airport location - place
          vehicle package - physobj
          truck airplane - vehicle)
  (:predicates
    (in-city ?l - place ?c - city)
    (at ?x - physobj ?l - place)
    (in ?p - package ?v - vehicle))

  (:action load-truck
    :parameters (?p - package ?t - truck ?l - place)
    :precondition (and (at ?t ?l) (at ?p ?l))
    :effect (and (in ?p ?t) (not (at ?p ?l))))

  (:action load-airplane
    :parameters (?p - package ?a - airplane ?l - airport)
    :precondition (and (at ?a ?l) (at ?p ?l))
    :effect (and (in ?p ?a) (not (at ?p ?l))))

  (:action unload-truck
    :parameters (?p - package ?t - truck ?l - place)
    :precondition (and (at ?t ?l) (in ?p ?t))
    :effect (and (at ?p ?l) (not (in ?p ?t))))

  (:action unload-airplane
    :parameters (?p - package ?a - airplane ?l - airport)
    :precondition (and (at ?a ?l) (in ?p ?a))
    :effect (and (at ?p ?l) (not (in ?p ?a))))

  (:action drive-truck
    :parameters (?t - truck ?from ?to - place ?c - city)
    :precondition (and (at ?t ?from) (in-city ?from ?c) (in-city ?to ?c))
    :effect (and (at ?t ?to) (not (at ?t ?from))))

  (:action fly-airplane
    :parameters (?a - airplane ?from ?to - airport)
    :precondition (at ?a ?from)
    :effect (and (at ?a ?to) (not (at ?a ?from)))))
