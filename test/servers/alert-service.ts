import { startReceiver, type OnStep, type Receiver } from './receiver.ts'
import { CHAT_SERVICES } from './alert-services/chat.ts'
import { HOSTED_CHAT_SERVICES } from './alert-services/hosted-chat.ts'
import { OTHER_SERVICES } from './alert-services/other.ts'
import { PAGING_SERVICES } from './alert-services/paging.ts'
import { PUSH_SERVICES } from './alert-services/push.ts'
import { Refused, type Call, type Contract, type Reply } from './alert-services/contract.ts'

/** The contract of each service, by the ID of its channel type. */
export const CONTRACTS: Record<string, Contract> = {
  ...CHAT_SERVICES,
  ...HOSTED_CHAT_SERVICES,
  ...OTHER_SERVICES,
  ...PAGING_SERVICES,
  ...PUSH_SERVICES,
}

/** A fake of one service, which accepts only what the real one would. */
export type AlertService = {
  /** Settings of a channel that leads here, together with `origins`. */
  settings: Record<string, string>
  /** Other origins of hosted services, for `SendDeps`. */
  origins: Map<string, string>
  origin: string
  calls: Call[]
  /** Accepted messages as people see them. */
  shown: string[]
  /** Why the service would have rejected requests. */
  violations: string[]
  /** Responds so to everything from now on; null as the service does. */
  respond(reply: Reply | null): void
  close(): Promise<void>
}

export async function startAlertService(id: string, onStep?: OnStep): Promise<AlertService> {
  const contract = CONTRACTS[id]
  if (!contract) throw new Error(`Channel type ${id} has no contract in test/servers.`)
  let fixed: Reply | null = null
  const [calls, shown, violations] = [[] as Call[], [] as string[], [] as string[]]
  function answer(call: Call): Reply {
    calls.push(call)
    if (fixed) return fixed
    try {
      requireWellFormed(call)
      const accepted = contract?.accept(call) ?? { shown: '', reply: { status: 500 } }
      shown.push(accepted.shown)
      return accepted.reply
    } catch (error) {
      violations.push(String(error))
      return error instanceof Refused ? error.reply : { status: 400 }
    }
  }
  const receiver: Receiver = await startReceiver((response, { method, path, headers, body }) => {
    const url = new URL(path, 'http://service.test')
    const reply = answer({ method, url, headers, body, json: parse(body) })
    response
      .writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
      .end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {}))
  }, onStep)
  return {
    settings: contract.settings(receiver.origin),
    origins: new Map(contract.hosted ? [[contract.hosted, receiver.origin]] : []),
    origin: receiver.origin,
    calls,
    shown,
    violations,
    respond: (reply) => void (fixed = reply),
    close: () => receiver.close(),
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown
  } catch {
    return null
  }
}

/** Half of an emoji arrives as U+FFFD, or as an escape in JSON. */
function requireWellFormed({ body }: Call): void {
  if (/\uFFFD|\\ud[89a-f]/i.test(body)) throw new Refused({ status: 400, body: 'torn character' })
}
