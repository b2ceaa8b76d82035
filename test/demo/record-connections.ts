// Loaded before a service (`node --import`): appends the target of every connection, every datagram
// and every name that is looked up to the file CONNECTIONS_FILE. What is due each day is due on SIGUSR2.
import dgram from 'node:dgram'
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { isIP, Socket } from 'node:net'

const record = (line: string) => appendFileSync(process.env['CONNECTIONS_FILE'] ?? '', `${line}\n`)

const connect = Reflect.get(Socket.prototype, 'connect') as (this: Socket) => Socket
Socket.prototype.connect = function (this: Socket, ...given: unknown[]) {
  const [first, second] = [given].flat(2) as [unknown, unknown]
  const target = typeof first === 'object' ? first : { port: first, host: second }
  const { host = 'localhost', port, path } = target as Record<string, string | number | undefined>
  // A Unix socket has a path; that of the database stands in place of the port.
  const isUnix = path !== undefined || String(port).startsWith('/')
  record(isUnix ? 'unix' : `tcp ${String(host)}:${String(port)}`)
  return Reflect.apply(connect, this, given) as Socket
}
for (const method of ['connect', 'send'] as const) {
  const original = dgram.Socket.prototype[method]
  dgram.Socket.prototype[method] = function (this: dgram.Socket, ...given: unknown[]) {
    record(`udp ${method}`)
    return Reflect.apply(original, this, given) as never
  }
}
const { lookup } = dns
dns.lookup = ((name: string, ...rest: unknown[]) => {
  if (isIP(name) === 0) record(`name ${name}`)
  return Reflect.apply(lookup, dns, [name, ...rest]) as never
}) as unknown as typeof dns.lookup

const DAY_MS = 86_400_000
const { setInterval: schedule } = globalThis
globalThis.setInterval = ((work: () => void, ms: number, ...rest: unknown[]) => {
  if (ms === DAY_MS) process.on('SIGUSR2', work)
  return Reflect.apply(schedule, globalThis, [work, ms, ...rest]) as never
}) as unknown as typeof setInterval
