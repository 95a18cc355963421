"""The streams by name. A new stream is one file in this package and one line here."""

STREAMS: dict[str, str] = {
    "step": "i2cansay.streams.step:StepStream",
    "gaussian": "i2cansay.streams.gaussian:GaussianStream",
    "gaussian_schedule": "i2cansay.streams.gaussian_schedule:GaussianScheduleStream",
    "iid": "i2cansay.streams.iid:IidStream",
    "core50": "i2cansay.streams.core50_sessions:Core50Stream",
    "si_blurry": "i2cansay.streams.si_blurry:SiBlurryStream",
}
