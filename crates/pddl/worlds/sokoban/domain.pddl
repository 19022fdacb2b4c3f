; A robot pushes boxes to where they belong. It cannot pull, so boxes get stuck.
(define (domain sokoban)
  (:requirements :strips :typing)
  (:types location direction box)
  (:predicates
    (at-robot ?l - location)
    (at ?b - box ?l - location)
    (adjacent ?l1 ?l2 - location ?d - direction)
    (clear ?l - location))

  (:action move
    :parameters (?from ?to - location ?dir - direction)
    :precondition (and (clear ?to) (at-robot ?from) (adjacent ?from ?to ?dir))
    :effect (and (at-robot ?to) (not (at-robot ?from))))

  (:action push
    :parameters (?rloc ?bloc ?floc - location ?dir - direction ?b - box)
    :precondition (and (at-robot ?rloc) (at ?b ?bloc) (clear ?floc) (adjacent ?rloc ?bloc ?dir)
      (adjacent ?bloc ?floc ?dir))
    :effect (and (at-robot ?bloc) (at ?b ?floc) (clear ?bloc) (not (at-robot ?rloc)) (not (at ?b ?bloc))
      (not (clear ?floc)))))
