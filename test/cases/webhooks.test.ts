import { endToEndHeaders } from '../../src/net/http/forward.ts'
import { checkSignature, type SignatureScheme } from '../../src/protocols/webhook-signature.ts'
import { fillTemplate } from '../../src/webhooks/capture/response-template.ts'
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
  curl?: { method: string; headers: Header[] }
  forwarded?: Header[]
  signature?: {
    scheme: SignatureScheme['scheme']
    secret: string
    headers: Header[]
    body: string
  }
}

runCases('webhooks.json', (input: Input) => {
  const { template, curl, forwarded, signature } = input
  if (curl) return { command: commandOf(curl) }
  if (forwarded) return { headers: endToEndHeaders(forwarded) }
  if (signature) return { status: statusOf(signature) }
  const { query, headers, type } = input
  const body = Buffer.from(input.body, 'hex')
  const filled = fillTemplate(template ?? '', type, { query, headers, body, secret: 's' })
  return { hex: Buffer.from(filled, 'latin1').toString('hex') }
})

function commandOf(request: { method: string; headers: Header[] }): string | null {
  const row = { ...request, path: '', query: '', body: Buffer.alloc(0), bodySize: 0 }
  return formatCurl(row as unknown as RequestRow, 'http://h/t')
}

/** A signature of the moment that the rows sign. */
function statusOf({ scheme, secret, headers, body }: NonNullable<Input['signature']>): string {
  const receivedAt = new Date(1_795_863_600_000)
  const request = { headers, body: Buffer.from(body), truncated: false, receivedAt }
  const custom = { header: 'X-Sig', prefix: '', algorithm: 'sha256', encoding: 'hex' } as const
  return checkSignature({ scheme, ...(scheme === 'hmac' && custom) }, secret, request).status
}
