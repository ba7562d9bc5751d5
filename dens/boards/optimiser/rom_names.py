"""Names that the micro:bit's firmware has in its ROM.

A board's MicroPython keeps every identifier that it reads, for ever, unless it knows it already. A name that
stands in the firmware therefore costs no heap; any other costs its letters and seven bytes or more.
"""

_LOCALS = """
a b c d e f g n r NO a2 a4 b3 b4 b5 bl bx c3 c4 c5 d3 d4 d5 e4 e5 f2 g4 g5 gc on os pi rx tx up
"""

_OTHERS = """
COW MEH ODD ODE SAD YES add asr bpm buf clz cmp cos end exp get i2c key ldr log lsl lsr mem mov mrs nop
off pin pop say scl sda sep sin spi sub sys tan wfi DUCK EVEN FUNK NYAN XMAS acos addr and_ args asin
atan bits blit ceil copy crop data down fabs fill find fmod freq init join keys ldrb ldrh left loop love
math mem8 miso mode modf mosi movt movw name pack pin0 pin1 pin2 pin3 pin4 pin5 pin6 pin7 pin8 pin9 pins
play push rbit read scan sclk sdiv seed send show sing size sort sqrt step stop strb strh text this time
uart udiv uint wait ANGRY BADDY BLUES CHASE GHOST HAPPY HEART HOUSE Image SILLY SKULL SMILE SNAKE SWORD
align array atan2 audio clear close const count cpsid cpsie debug delay floor frexp get_x get_y get_z
group image index is_on isinf isnan items label ldexp ldrex lower mem16 mem32 mouth movwt music panic
pin10 pin11 pin12 pin13 pin14 pin15 pin16 pin19 pin20 pitch power queue radio reset rfind right shake
sleep speed split start strex strip throw ticks touch trunc uname union upper utime value width write
"""

LOCALS = tuple(_LOCALS.split())
"""For arguments and local variables: one or two letters, none the name of a builtin."""

OTHERS = tuple(_OTHERS.split())
"""For functions, classes and attributes: three to five letters, none the name of a builtin."""
