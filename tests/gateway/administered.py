"""The part of an engine to try the gateway with that operators call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message_factory import GetMessageClass

from libs.chassis.status import RefusedError
from opolyx.engine.v1 import caller_pb2
from services.gateway.allowed import ADMIN_SERVICE
from tests.gateway.world import on_behalf_of, refuse

Context = grpc.aio.ServicerContext[Any, Any]


class Administered:
    """Takes every call of `AdminService`.

    Attributes:
        callers: on whose behalf unary calls of any service were made, in order, by method.
        administered: the calls of operators: methods, requests, and on whose behalf.
        says: what it answers these with; an empty reply if nothing.
        on_administered: called after each of them.

    """

    def __init__(self) -> None:
        self.callers: list[tuple[str, caller_pb2.Caller]] = []
        self.administered: list[tuple[str, Any, caller_pb2.Caller]] = []
        self.says: Any = None
        self.on_administered: Callable[[], None] = lambda: None

    def administration(self) -> grpc.GenericRpcHandler:
        """Return what takes every call of operators."""
        handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            method.name: grpc.unary_unary_rpc_method_handler(
                partial(self._administer, method),
                GetMessageClass(method.input_type).FromString,
                lambda response: response.SerializeToString(),
            )
            for method in ADMIN_SERVICE.methods
        }
        return grpc.method_handlers_generic_handler(ADMIN_SERVICE.full_name, handlers)

    async def _administer(self, method: MethodDescriptor, request: Any, context: Context) -> Any:
        self._note(context, method.name)
        self.administered.append((method.name, request, self.callers[-1][1]))
        self.on_administered()
        if isinstance(self.says, RefusedError):
            await refuse(context, self.says)
        return self.says or GetMessageClass(method.output_type)()

    def _note(self, context: Context, method: str) -> None:
        self.callers.append((method, on_behalf_of(context)))
