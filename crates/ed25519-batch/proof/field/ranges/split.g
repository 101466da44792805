# The split of a product by two fused multiply-adds, for Gappa (https://gappa.gitlabpages.inria.fr).
#
# A test fills in the words with a dollar sign (proof/field/ranges/split.rs): the constants of
# src/curve/field/fma.rs, the largest factors that the ranges of its types allow, and the logarithm of
# the largest error.
#
#     h = fma(a, b, HIGH)              s = (HIGH + LOW) - h              l = fma(a, b, s)
#
# Claims: h stays in the binade of HIGH, whose last place is worth 2^51; its error is at most half of
# that; s and l are exact; so l is LOW minus the error, and stays in the binade of LOW. The last line helps Gappa: both sides are equal
# if h and s are replaced by what they are.
@rnd = float<ieee_64, ne>;

a = fixed<0, ne>(x);
b = fixed<0, ne>(y);
h = rnd(a * b + $HIGH);
s = rnd($BOTH - h);
l = rnd(a * b + s);

{ a in [-$A, $A] /\ b in [-$B, $B] ->
    h in [0x1p103, 0x1p104]
 /\ l in [0x1p52, 0x1p53]
 /\ h - (a * b + $HIGH) in [-0x1p$ERROR, 0x1p$ERROR]
 /\ s - ($BOTH - h) in [0, 0]
 /\ l - (a * b + s) in [0, 0]
 /\ l - $LOW in [-0x1p$ERROR, 0x1p$ERROR]
}

a * b + s -> $LOW + ((s - ($BOTH - h)) - (h - (a * b + $HIGH)));
