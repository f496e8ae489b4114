"""One package per process. A service never imports another; the console composes them."""
