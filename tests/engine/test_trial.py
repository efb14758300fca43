"""When block Lanczos is given up."""

from eckart.engine.trial import Trial


def test_worth():
    trial = Trial(product=0.01, width=20, size=1000, capacity=400, alternative=0.1)
    assert trial.worth(4, 2.0)
    assert not trial.worth(4, 40.0)
    assert not trial.worth(40, 2.0)  # a prediction of two more steps that has been wrong all the time
