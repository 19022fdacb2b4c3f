; Vehicles that hold only so much carry packages along roads.
(define (domain transport)
  (:requirements :strips :typing)
  (:types location locatable capacity-number - object
          vehicle package - locatable)
  (:predicates
    (road ?l1 ?l2 - location)
    (at ?x - locatable ?l - location)
    (in ?p - package ?v - vehicle)
    (capacity ?v - vehicle ?s - capacity-number)
    (capacity-predecessor ?s1 ?s2 - capacity-number))

  (:action drive
    :parameters (?v - vehicle ?l1 ?l2 - location)
    :precondition (and (at ?v ?l1) (road ?l1 ?l2))
    :effect (and (at ?v ?l2) (not (at ?v ?l1))))

  (:action pick-up
    :parameters (?v - vehicle ?l - location ?p - package ?s1 ?s2 - capacity-number)
    :precondition (and (at ?v ?l) (at ?p ?l) (capacity-predecessor ?s1 ?s2) (capacity ?v ?s2))
    :effect (and (in ?p ?v) (capacity ?v ?s1) (not (at ?p ?l)) (not (capacity ?v ?s2))))

  (:action drop
    :parameters (?v - vehicle ?l - location ?p - package ?s1 ?s2 - capacity-number)
    :precondition (and (at ?v ?l) (in ?p ?v) (capacity-predecessor ?s1 ?s2) (capacity ?v ?s1))
    :effect (and (at ?p ?l) (capacity ?v ?s2) (not (in ?p ?v)) (not (capacity ?v ?s1)))))
