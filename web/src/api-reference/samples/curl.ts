import {
  DOWNLOAD_FILE,
  UPLOAD_FILE,
  type SampleBody,
  type SampleRequest,
} from './sample-request.ts'

/** The request as a command for a POSIX shell. */
export function curlSample(request: SampleRequest): string {
  const { method, url, access, headers, body, answer } = request
  return [
    ['curl', answer === 'stream' && '-N', methodFlag(method, body), quote(url)],
    [access === 'token' && '-H "Authorization: Bearer $PORTREEVE_TOKEN"'],
    [access === 'session' && '-H "Cookie: $PORTREEVE_COOKIE"'],
    ...headers.map(([name, value]) => [`-H ${quote(`${name}: ${value}`)}`]),
    ...bodyFlags(body).map((flag) => [flag]),
    [answer === 'file' && `-o ${DOWNLOAD_FILE}`],
  ]
    .map((line) => line.filter(Boolean).join(' '))
    .filter((line) => line !== '')
    .join(' \\\n  ')
}

function methodFlag(method: string, body: SampleBody | null): string | false {
  if (method === 'HEAD') return '-I'
  const implied = body ? 'POST' : 'GET'
  return method !== implied && `-X ${method}`
}

function bodyFlags(body: SampleBody | null): string[] {
  if (!body) return []
  const type = (name: string) => `-H ${quote(`Content-Type: ${name}`)}`
  if (body.kind === 'json')
    return [type('application/json'), `-d ${quote(JSON.stringify(body.value, null, 2))}`]
  if (body.kind === 'text') return [type(body.type), `--data-binary ${quote(body.text)}`]
  return body.type === 'multipart/form-data'
    ? [`-F "files=@${UPLOAD_FILE}"`]
    : [type(body.type), `--data-binary @${UPLOAD_FILE}`]
}

/** Quotes for a shell: double quotes where nothing inside has a meaning, else single ones. */
function quote(text: string): string {
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", String.raw`'\''`)}'` : `"${text}"`
}
