import { emailAsHttp } from '../email/email-as-http.ts'
import { invalidField, type Fault } from '../../errors.ts'
import type { Header } from '../headers.ts'
import { MAX_EDITED_BODY_BYTES } from '../limits.ts'
import type { RequestRow } from '../requests/captured-request.ts'
import { withoutDigests } from './change-request.ts'
import { isLoopHeader } from './forwarding-marks.ts'
import type { RequestEdit } from './shapes.ts'

/** What a person changed in a request before it was sent; null for what stays as captured. */
export type EditedFields = {
  method: string | null
  path: string | null
  query: string | null
  headers: Header[] | null
  body: Buffer | null
}

/** @throws Fault `invalid_request` */
export function parseEdit(edit: RequestEdit): EditedFields {
  const { method, path, query, headers, body, bodyEncoding = 'utf8' } = edit
  const bytes = body === undefined ? null : Buffer.from(body, bodyEncoding)
  if (bytes && bytes.length > MAX_EDITED_BODY_BYTES)
    throw invalid('body', `must have up to ${MAX_EDITED_BODY_BYTES} bytes`)
  if (bytes && bodyEncoding === 'base64' && !isBase64(body ?? '', bytes))
    throw invalid('body', 'must be base64')
  return {
    method: method ?? null,
    path: path ?? null,
    query: query ?? null,
    headers: headers ?? null,
    body: bytes,
  }
}

/** What is sent of a captured request, as it was edited. The captured one stays as it is. */
export function requestToSend(request: RequestRow, edit: EditedFields | null): RequestRow {
  const captured = emailAsHttp(request)
  if (edit === null) return captured
  const body = edit.body ?? captured.body
  return {
    ...captured,
    method: edit.method ?? captured.method,
    path: edit.path ?? captured.path,
    query: edit.query ?? captured.query,
    headers: headersOf(captured, edit),
    body,
    // The new body is whole, even where the captured one was truncated.
    bodySize: edit.body ? body.length : captured.bodySize,
  }
}

function headersOf(captured: RequestRow, { headers, body }: EditedFields): Header[] {
  if (headers) return [...headers, ...loopMarks(captured)]
  return body ? withoutDigests(captured.headers) : captured.headers
}

/** How often it was forwarded before: an edit must not hide a loop. */
function loopMarks({ headers }: RequestRow): Header[] {
  return headers.filter(([name]) => isLoopHeader(name))
}

/** Node skips what is not base64, and the sent bytes would be others than those that were meant. */
function isBase64(text: string, bytes: Buffer): boolean {
  return bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')
}

function invalid(name: string, message: string): Fault {
  const path = `edit.${name}`
  return invalidField(path, message, `This edit is not valid: ${path}`)
}
