; Rovers sample soil and rock and take images, and send what they found to a lander.
(define (domain rovers)
  (:requirements :strips :typing)
  (:types rover waypoint store camera mode lander objective)
  (:predicates
    (at ?r - rover ?w - waypoint)
    (at_lander ?l - lander ?w - waypoint)
    (can_traverse ?r - rover ?x ?y - waypoint)
    (equipped_for_soil_analysis ?r - rover)
    (equipped_for_rock_analysis ?r - rover)
    (equipped_for_imaging ?r - rover)
    (empty ?s - store)
    (full ?s - store)
    (store_of ?s - store ?r - rover)
    (have_rock_analysis ?r - rover ?w - waypoint)
    (have_soil_analysis ?r - rover ?w - waypoint)
    (have_image ?r - rover ?o - objective ?m - mode)
    (calibrated ?c - camera ?r - rover)
    (supports ?c - camera ?m - mode)
    (on_board ?c - camera ?r - rover)
    (calibration_target ?c - camera ?o - objective)
    (visible ?w ?p - waypoint)
    (visible_from ?o - objective ?w - waypoint)
    (at_soil_sample ?w - waypoint)
    (at_rock_sample ?w - waypoint)
    (communicated_soil_data ?w - waypoint)
    (communicated_rock_data ?w - waypoint)
    (communicated_image_data ?o - objective ?m - mode))

  (:action navigate
    :parameters (?r - rover ?y ?z - waypoint)
    :precondition (and (can_traverse ?r ?y ?z) (at ?r ?y) (visible ?y ?z))
    :effect (and (at ?r ?z) (not (at ?r ?y))))

  (:action sample_soil
    :parameters (?r - rover ?s - store ?p - waypoint)
    :precondition (and (at ?r ?p) (at_soil_sample ?p) (equipped_for_soil_analysis ?r) (store_of ?s ?r) (empty ?s))
    :effect (and (full ?s) (have_soil_analysis ?r ?p) (not (empty ?s)) (not (at_soil_sample ?p))))

  (:action sample_rock
    :parameters (?r - rover ?s - store ?p - waypoint)
    :precondition (and (at ?r ?p) (at_rock_sample ?p) (equipped_for_rock_analysis ?r) (store_of ?s ?r) (empty ?s))
    :effect (and (full ?s) (have_rock_analysis ?r ?p) (not (empty ?s)) (not (at_rock_sample ?p))))

  (:action drop
    :parameters (?r - rover ?s - store)
    :precondition (and (store_of ?s ?r) (full ?s))
    :effect (and (empty ?s) (not (full ?s))))

  (:action calibrate
    :parameters (?r - rover ?c - camera ?o - objective ?w - waypoint)
    :precondition (and (equipped_for_imaging ?r) (calibration_target ?c ?o) (at ?r ?w) (visible_from ?o ?w)
      (on_board ?c ?r))
    :effect (calibrated ?c ?r))

  (:action take_image
    :parameters (?r - rover ?w - waypoint ?o - objective ?c - camera ?m - mode)
    :precondition (and (calibrated ?c ?r) (on_board ?c ?r) (equipped_for_imaging ?r) (supports ?c ?m)
      (visible_from ?o ?w) (at ?r ?w))
    :effect (and (have_image ?r ?o ?m) (not (calibrated ?c ?r))))

  (:action communicate_soil_data
    :parameters (?r - rover ?l - lander ?p ?x ?y - waypoint)
    :precondition (and (at ?r ?x) (at_lander ?l ?y) (have_soil_analysis ?r ?p) (visible ?x ?y))
    :effect (communicated_soil_data ?p))

  (:action communicate_rock_data
    :parameters (?r - rover ?l - lander ?p ?x ?y - waypoint)
    :precondition (and (at ?r ?x) (at_lander ?l ?y) (have_rock_analysis ?r ?p) (visible ?x ?y))
    :effect (communicated_rock_data ?p))

  (:action communicate_image_data
    :parameters (?r - rover ?l - lander ?o - objective ?m - mode ?x ?y - waypoint)
    :precondition (and (at ?r ?x) (at_lander ?l ?y) (have_image ?r ?o ?m) (visible ?x ?y))
    :effect (communicated_image_data ?o ?m)))
