import type { ForwardedEdit, RequestDetails } from '../api.ts'
import { headersText, parseHeaders } from '../endpoint-settings.ts'

/** What was edited in the form, as the API takes it; undefined for nothing. */
export function editOf(
  request: Pick<RequestDetails['request'], 'method' | 'path' | 'query' | 'headers' | 'body'>,
  values: Record<string, string>,
): ForwardedEdit | undefined {
  const { method, path, query, headers, body } = values
  const edit: ForwardedEdit = {
    ...(method !== undefined &&
      method !== request.method && { method: method as NonNullable<ForwardedEdit['method']> }),
    ...(path !== undefined && path.trim() !== request.path && { path: path.trim() }),
    ...(query !== undefined && query.trim() !== request.query && { query: query.trim() }),
    ...(headers !== undefined &&
      withLf(headers) !== headersText(request.headers) && { headers: parseHeaders(headers) ?? [] }),
    ...(body !== undefined && isChanged(body, request.body) && { body: withLf(body) }),
  }
  return Object.keys(edit).length > 0 ? edit : undefined
}

/** Browsers send the line breaks of a text area as CRLF. */
const withLf = (text: string) => text.replaceAll('\r\n', '\n')

function isChanged(text: string, captured: string): boolean {
  return withLf(text) !== withLf(captured)
}
