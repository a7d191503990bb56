"""The sources are the tests: each test cites the example, equation or statement it reproduces.

000  M. J. Bonich, Sistemas termomecanicos lagrangianos continuos y discretos, Universidad Nacional del Comahue
001  R. Ramirez, Sobre los sistemas mecanicos con enlaces, Universidad de Barcelona, 1990
002  C. I. Tori, Reduccion lagrangiana de sistemas mecanicos discretos con vinculos no holonomos, Universidad Nacional de La
     Plata, 2010
003  lecture notes on Newton's laws, constraints and d'Alembert's principle, after H. Goldstein and after F. Verheest and
     N. Van den Berg, Eur. J. Phys. 14 (1993) 217-221
004  Dinamica analitica, chapter 7 of a textbook of mechanics: 14 examples, 26 problems without solutions

The digest of a source is the corrected statement of it that these tests go by: misprints are mended there, statements are
numbered T1, T2, ..., and numbers are added that the source does not have. What it says is checked here, not trusted.
"""
