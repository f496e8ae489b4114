import pytest

from libs.chassis.observing import observed
from libs.chassis.process import AddressError
from libs.chassis.sections import TelemetrySettings
from tests.support.scraping import scraped


async def test_a_process_tells_what_runs_in_it() -> None:
    async with observed(TelemetrySettings(metrics_port=0), service="lobby", version="1.2") as port:
        text = await scraped(port)

    assert 'opolyx_build_info{service="lobby",version="1.2"} 1.0' in text


async def test_a_port_that_is_taken_is_an_error_that_says_how_to_choose_another() -> None:
    async with observed(TelemetrySettings(metrics_port=0), service="a", version="1") as port:
        told = rf"127\.0\.0\.1:{port} \(OPOLYX_TELEMETRY__METRICS_PORT\): .* in use"
        with pytest.raises(AddressError, match=told):
            async with observed(TelemetrySettings(metrics_port=port), service="b", version="1"):
                pass
