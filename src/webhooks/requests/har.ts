import { isUtf8 } from 'node:buffer'
import { STATUS_CODES } from 'node:http'
import type { Header } from '../headers.ts'
import type { RequestRow } from './captured-request.ts'

/**
 * Builds an HTTP Archive (HAR 1.2) of these requests, oldest first. Names that begin with an
 * underscore are additions of Portreeve.
 */
export function toHar(requests: RequestRow[], url: string, version: string) {
  const entries = requests.toSorted((a, b) => a.seq - b.seq).map((request) => entryOf(request, url))
  return { log: { version: '1.2', creator: { name: 'Portreeve', version }, entries } }
}

function entryOf(request: RequestRow, url: string) {
  const { method, path, query, headers, receivedAt, durationMs } = request
  return {
    _id: request.id,
    _rejected: request.rejected,
    _surplus: request.surplus,
    startedDateTime: new Date(receivedAt.getTime() - durationMs).toISOString(),
    time: durationMs,
    _clientIPAddress: request.ip,
    request: {
      method,
      url: url + path + (query && `?${query}`),
      // An email has none.
      httpVersion: request.httpVersion && `HTTP/${request.httpVersion}`,
      cookies: cookiesOf(headers),
      headers: namesAndValues(headers),
      queryString: namesAndValues([...new URLSearchParams(query)]),
      ...(request.bodySize > 0 && { postData: postDataOf(request) }),
      headersSize: -1,
      bodySize: request.bodySize,
    },
    response: {
      status: request.responseStatus ?? 0,
      statusText: STATUS_CODES[request.responseStatus ?? 0] ?? '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: [],
      content: { size: -1, mimeType: 'x-unknown' },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send: durationMs, wait: 0, receive: 0 },
  }
}

/**
 * The format defines no encoding for request bodies. Base64 is marked as browsers mark it for
 * responses.
 */
function postDataOf({ body, bodySize, contentType }: RequestRow) {
  const isText = isUtf8(body)
  return {
    mimeType: contentType ?? '',
    params: [],
    text: body.toString(isText ? 'utf8' : 'base64'),
    ...(!isText && { _encoding: 'base64' }),
    ...(bodySize > body.length && { comment: `the first ${body.length} of ${bodySize} bytes` }),
  }
}

/** Of all `Cookie` fields: HTTP/2 senders split them (RFC 9113, section 8.2.3). */
function cookiesOf(headers: Header[]) {
  return headers
    .filter(([name]) => name.toLowerCase() === 'cookie')
    .flatMap(([, value]) => value.split(';'))
    .map((pair) => pair.trim())
    .filter(Boolean)
    .map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return { name, value: value.join('=') }
    })
}

function namesAndValues(headers: Header[]) {
  return headers.map(([name, value]) => ({ name, value }))
}
