; Everything beyond STRIPS at once, after the lift of 2000 that was told about its passengers.
(define (domain lift-adl)
(:requirements :adl :derived-predicates :action-costs)
(:types passenger floor - object
        vip going-alone - passenger)
(:constants ground - floor)
(:predicates (origin ?p - passenger ?f - floor) (destin ?p - passenger ?f - floor) (next ?f1 ?f2 - floor) (higher ?f1 ?f2 - floor)
  (boarded ?p - passenger) (served ?p - passenger) (lift-at ?f - floor) (open) (no-access ?p - passenger ?f - floor) (busy))
(:functions (total-cost) - number (height ?f - floor) - number)
(:derived (higher ?f1 ?f2 - floor) (or (next ?f1 ?f2) (exists (?f3 - floor) (and (next ?f1 ?f3) (higher ?f3 ?f2)))))
(:derived (busy) (exists (?p - passenger) (and (boarded ?p) (not (served ?p)))))
(:action stop
 :parameters (?f - floor)
 :precondition (and (lift-at ?f)
   (imply (exists (?p - going-alone) (boarded ?p)) (forall (?q - vip) (not (boarded ?q))))
   (forall (?p - passenger) (imply (no-access ?p ?f) (not (boarded ?p))))
   (or (= ?f ground) (busy) (exists (?p - passenger) (and (origin ?p ?f) (not (served ?p))))))
 :effect (and
   (forall (?p - passenger) (when (and (boarded ?p) (destin ?p ?f)) (and (not (boarded ?p)) (served ?p))))
   (forall (?p - passenger) (when (and (origin ?p ?f) (not (served ?p))) (boarded ?p)))
   (increase (total-cost) 1)))
(:action up
 :parameters (?f1 ?f2 - floor)
 :precondition (and (lift-at ?f1) (higher ?f1 ?f2) (not (= ?f1 ?f2)))
 :effect (and (lift-at ?f2) (not (lift-at ?f1)) (increase (total-cost) (height ?f2))))
(:action down
 :parameters (?f1 ?f2 - floor)
 :precondition (and (lift-at ?f1) (higher ?f2 ?f1))
 :effect (and (lift-at ?f2) (not (lift-at ?f1)) (increase (total-cost) (height ?f1)))))
