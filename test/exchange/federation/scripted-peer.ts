import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createSigningKey,
  signRequest,
  signResponse,
  type SignedRequest,
  type SigningKey,
} from '../../../src/protocols/http-signature.ts'

const PATH = '/api/v1/abuse/federation'

/** A response of the peer, as its script changes it before it is signed or sent. */
export type Script = {
  /** The page for a position; the default has no items. */
  page?: (after: number) => unknown
  /** Changes the headers after signing. */
  tamper?: (headers: Record<string, string>) => Record<string, string>
  /** Signs with another key. */
  key?: SigningKey
  status?: number
  date?: Date
}

export const newKey = () => createSigningKey(randomBytes(32).toString('base64url'))
export const EMPTY = { state: 'following', items: [], more: false, last: 0 }

/** An installation that does what no real one does. Its script can change at any time. */
export async function startScriptedPeer() {
  let key = newKey()
  let script: Script = {}
  const seen: string[] = []
  const server = createServer((request, response) => {
    const send = ({ status, headers, body }: Awaited<ReturnType<typeof answer>>) =>
      response.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(body)
    void answer(request).then(send)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://localhost:${(server.address() as AddressInfo).port}`

  async function answer(request: IncomingMessage) {
    const path = request.url ?? ''
    seen.push(path)
    if (path === PATH) {
      const { publicKey, fingerprint } = key
      const data = { url, publicKey, fingerprint }
      return { status: 200, headers: {}, body: JSON.stringify({ success: true, data }) }
    }
    const after = Number(new URL(path, url).searchParams.get('after'))
    const data = path.includes('follow')
      ? { state: 'following' }
      : (script.page?.(after) ?? { ...EMPTY, last: after })
    const body = JSON.stringify({ success: true, data })
    const status = script.status ?? 200
    const asked = { method: request.method ?? '', url: url + path, headers: textsOf(request) }
    const signed = await signResponse(script.key ?? key, { status, body }, asked, Date.now())
    const headers = script.tamper?.(signed) ?? signed
    return {
      status,
      headers: { ...headers, ...(script.date && { date: script.date.toUTCString() }) },
      body,
    }
  }

  return {
    url,
    seen,
    key: () => key,
    play: (next: Script) => void (script = next),
    changeKey: () => void (key = newKey()),
    /** The headers of a signed request to an installation. */
    async sign(method: string, target: string, now = Date.now()): Promise<Record<string, string>> {
      const request: SignedRequest = { method, url: target, headers: { 'portreeve-peer': url } }
      const headers = await signRequest(key, request, now)
      const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
      return Object.fromEntries(named) as Record<string, string>
    },
    stop: () => void server.close(),
  }
}

function textsOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  )
}

let position = 0
/** Evidence as a peer sends it. */
export function evidence(ip: string, changes: object = {}) {
  position += 1
  return {
    kind: 'evidence',
    position,
    id: crypto.randomUUID(),
    ip,
    service: 'ssh',
    at: new Date(Date.now() - 3_600_000).toISOString(),
    reporter: `network${position}`,
    ...changes,
  }
}

export function withdrawal(id: string) {
  position += 1
  return { kind: 'withdrawal', position, id }
}

/** A page that is served once, for the position before its first item. */
export function pageOf(...items: { position: number }[]) {
  return (after: number) => {
    const left = items.filter((item) => item.position > after)
    return { ...EMPTY, items: left, last: items.at(-1)?.position ?? 0 }
  }
}
