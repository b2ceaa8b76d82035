import { endToEndHeaders, targetOf } from '../../src/net/http/forward.ts'
import { digestOf } from '../../src/protocols/http-signature.ts'
import { checkSignature, type SignatureScheme } from '../../src/protocols/webhook-signature.ts'
import { fillTemplate } from '../../src/webhooks/capture/response-template.ts'
import {
  PatchError,
  patchJson,
  type PatchOperation,
} from '../../src/webhooks/forwarding/json-patch.ts'
import type { Header } from '../../src/webhooks/headers.ts'
import { formatCurl } from '../../src/webhooks/requests/curl-command.ts'
import type { RequestRow } from '../../src/webhooks/requests/captured-request.ts'
import { runCases } from './run-cases.ts'

type Input = {
  template?: string
  /** In hex. */
  body: string
  query: string
  headers: Header[]
  type: string
  curl?: { method: string; headers: Header[]; body?: string }
  /** JSON as it is written. */
  document?: string
  patch?: PatchOperation[]
  target?: { to: string; path: string }
  digest?: string
  forwarded?: Header[]
  signature?: {
    scheme: SignatureScheme['scheme']
    secret: string
    headers: Header[]
    body: string
    /** When it arrived, in seconds since 1970. */
    at?: number
  }
}

runCases('webhooks.json', (input: Input) => {
  const { document, patch = [], target, digest } = input
  if (document !== undefined) return patched(document, patch)
  if (target) return { target: targetOf(new URL(target.to), target.path) }
  if (digest !== undefined) return { digest: digestOf(digest) }
  const { template, curl, forwarded, signature } = input
  if (curl) return { command: commandOf(curl) }
  if (forwarded) return { headers: endToEndHeaders(forwarded) }
  if (signature) return { status: statusOf(signature) }
  const { query, headers, type } = input
  const body = Buffer.from(input.body, 'hex')
  const filled = fillTemplate(template ?? '', type, { query, headers, body, secret: 's' })
  return { hex: Buffer.from(filled, 'latin1').toString('hex') }
})

function patched(document: string, patch: PatchOperation[]): object {
  try {
    return { document: patchJson(Buffer.from(document), patch).toString() }
  } catch (error) {
    return { problem: error instanceof PatchError }
  }
}

function commandOf({ body = '', ...request }: NonNullable<Input['curl']>): string | null {
  const row = { ...request, path: '', query: '', body: Buffer.from(body), bodySize: body.length }
  return formatCurl(row as unknown as RequestRow, 'http://h/t')
}

/** A signature of the moment that the rows sign. */
function statusOf({
  scheme,
  secret,
  headers,
  body,
  at = 1_795_863_600,
}: NonNullable<Input['signature']>): string {
  const receivedAt = new Date(at * 1000)
  const request = { headers, body: Buffer.from(body), truncated: false, receivedAt }
  const custom = { header: 'X-Sig', prefix: '', algorithm: 'sha256', encoding: 'hex' } as const
  return checkSignature({ scheme, ...(scheme === 'hmac' && custom) }, secret, request).status
}
