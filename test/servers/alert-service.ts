import { SERVICES, type Reply, type Service, type ServiceRequest } from './alert-services.ts'
import { startReceiver, type Received } from './receiver.ts'

/** How a fake responds: as the service does when all is well, or in one of its kinds of failure. */
export type Mode = 'ok' | 'busy' | 'down' | 'dead' | 'rejected'

/** A fake of a service, which records each request that the service would refuse. */
export type AlertService = {
  service: Service
  settings: Record<string, string>
  /** Redirects the origins of a hosted service to this fake. */
  origins: ReadonlyMap<string, string>
  requests: ServiceRequest[]
  /** What is wrong with the requests so far. */
  violations: string[]
  respondAs(mode: Mode): void
  close(): Promise<void>
}

/** Starts the fake of a channel type; throws where there is none. */
export async function startAlertService(type: string): Promise<AlertService> {
  const service = SERVICES[type]
  if (!service) throw new Error(`test/servers/alert-services.ts has no fake of ${type}`)
  const requests: ServiceRequest[] = []
  const violations: string[] = []
  let mode: Mode = 'ok'
  const receiver = await startReceiver((response, received) => {
    const request = parse(received)
    requests.push(request)
    const {
      status,
      body,
      headers = {},
    } = mode === 'ok' ? accept(service, request, violations) : failureOf(service, mode)
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  return {
    service,
    settings: service.settings(receiver.origin),
    origins: new Map(service.origin ? [[service.origin, receiver.origin]] : []),
    requests,
    violations,
    respondAs: (next) => void (mode = next),
    close: () => receiver.close(),
  }
}

function parse({ path, headers, body }: Received): ServiceRequest {
  const json: ServiceRequest['json'] = JSON.parse(body)
  return { path, headers, json, texts: textsIn(json) }
}

/** A wrong request is refused, as the service would, and fails the test. */
function accept(service: Service, request: ServiceRequest, violations: string[]): Reply {
  const wrong: string[] = []
  const demand = (holds: boolean, what: string) => void (holds || wrong.push(what))
  demand(request.headers['content-type'] === 'application/json', 'Content-Type is JSON')
  demand(
    request.texts.every((text) => text.isWellFormed()),
    'no half of a surrogate pair',
  )
  demand(!request.texts.some((text) => /[\u202A-\u202E\u2066-\u2069]/u.test(text)), 'no RTL marks')
  const reply = service.accept(request, demand)
  violations.push(...wrong)
  return wrong.length === 0 ? reply : { status: 400, body: wrong.join('; ') }
}

function failureOf(service: Service, mode: Exclude<Mode, 'ok'>): Reply {
  if (mode === 'busy')
    return service.busy ?? { status: 429, body: 'slow down', headers: { 'retry-after': '7' } }
  // Some servers repeat the address or the token in an error.
  if (mode === 'down') return { status: 503, body: `no answer for ${service.secret}` }
  return service[mode] ?? { status: 500, body: 'this service never responds so' }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
