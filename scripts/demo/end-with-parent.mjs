// Loaded into the hook's process: ends it when the demo is gone, even by SIGKILL.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
