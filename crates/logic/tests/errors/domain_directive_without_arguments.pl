:- action.
