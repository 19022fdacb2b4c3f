; Blocks are moved from one place to another: three actions, no hand.
(define (domain blocks-move)
  (:requirements :strips :typing)
  (:types block)
  (:predicates
    (on ?x ?y - block)
    (on-table ?x - block)
    (clear ?x - block))

  (:action move
    :parameters (?x ?from ?to - block)
    :precondition (and (clear ?x) (clear ?to) (on ?x ?from))
    :effect (and (on ?x ?to) (clear ?from) (not (on ?x ?from)) (not (clear ?to))))

  (:action to-table
    :parameters (?x ?from - block)
    :precondition (and (clear ?x) (on ?x ?from))
    :effect (and (on-table ?x) (clear ?from) (not (on ?x ?from))))

  (:action from-table
    :parameters (?x ?to - block)
    :precondition (and (clear ?x) (clear ?to) (on-table ?x))
    :effect (and (on ?x ?to) (not (on-table ?x)) (not (clear ?to)))))
