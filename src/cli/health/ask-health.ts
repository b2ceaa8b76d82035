import { readConfig, type Config } from '../../config.ts'
import { messageOf } from '../../errors.ts'
import { endpointName } from '../../net/dns.ts'
import { requestStatus } from '../../net/http/request-status.ts'
import type { HostPort } from '../../setting-values.ts'

/** A health check must answer before its engine gives up. */
const TIMEOUT_MS = 4_000

/** Whether the service is ready, and why not. */
export type Health = { isReady: boolean; sentence: string }

/**
 * Requests /readyz from the local service with these settings.
 * @throws Fault `invalid_request` for settings that are not valid
 */
export async function askHealth(config: Config = readConfig()): Promise<Health> {
  const listener = findListener(config)
  if (!listener) {
    const sentence =
      'This instance has no server to ask: without the role web, set METRICS_LISTEN, such as 127.0.0.1:9464.'
    return { isReady: false, sentence }
  }
  const place = endpointName(listener)
  try {
    const status = await requestStatus(`http://${place}/readyz`, TIMEOUT_MS)
    if (status === 200) return { isReady: true, sentence: `Portreeve is ready on ${place}.` }
    const why = status === 503 ? 'its database is unavailable, or it is starting' : `HTTP ${status}`
    return { isReady: false, sentence: `Portreeve on ${place} is not ready: ${why}.` }
  } catch (error) {
    const sentence = `Portreeve does not answer on ${place}: ${messageOf(error)}.`
    return { isReady: false, sentence }
  }
}

/** Where the service listens, as reachable from this machine. */
function findListener({ ROLES, HOST, PORT, METRICS_LISTEN }: Config): HostPort | null {
  const listener = ROLES.includes('web') ? { address: HOST, port: PORT } : METRICS_LISTEN
  const local = { '0.0.0.0': '127.0.0.1', '::': '::1' }[listener?.address ?? '']
  return listener && { address: local ?? listener.address, port: listener.port }
}
