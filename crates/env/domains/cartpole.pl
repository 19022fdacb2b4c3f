% CartPole: keep a pole upright on a cart by pushing the cart to the left or right.
:- environment(cartpole).

:- action(left).
:- action(right).
:- number(position, metre).               % of the cart, 0 in the middle of the track
:- number(speed, metre_per_second).       % of the cart
:- number(angle, radian).                 % of the pole, 0 upright, above 0 to the right
:- number(spin, radian_per_second).       % of the pole
