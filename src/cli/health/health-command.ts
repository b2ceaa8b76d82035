import { defineCommand } from '../command.ts'

export const healthCommand = defineCommand({
  name: 'health',
  summary: 'Ask the service on this machine whether it is ready',
  description: [
    'It reads the settings of the service and requests /readyz from its HTTP server, or without the role web from its metrics server (METRICS_LISTEN). Use it as the health check of a container.',
  ],
  examples: [{ does: 'The service with these settings', command: 'portreeve health' }],
  exitCodes: { 0: 'ready', 1: 'not ready, or no answer within 4 seconds' },
  async run({ json }) {
    const { askHealth } = await import('./ask-health.ts')
    const { isReady, sentence } = await askHealth()
    console.log(json ? JSON.stringify({ success: true, data: { isReady, sentence } }) : sentence)
    return isReady ? 0 : 1
  },
})
