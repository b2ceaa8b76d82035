import { literal, type LiteralStyle } from './literal.ts'
import {
  DOWNLOAD_FILE,
  UPLOAD_FILE,
  type SampleBody,
  type SampleRequest,
} from './sample-request.ts'

// A JSON string is also a Python string, but for the escapes of lone surrogates, which no example has.
const quote = (text: string) => JSON.stringify(text)

const STYLE: LiteralStyle = {
  quote,
  key: quote,
  words: { true: 'True', false: 'False', null: 'None' },
}

/** The request with the requests library. */
export function pythonSample(request: SampleRequest): string {
  const { method, url, access, headers, body, answer } = request
  const all: [string, string][] = [
    ...ACCESS_HEADERS[access],
    ...headers.map(([name, value]) => [name, quote(value)] as [string, string]),
    ...typeHeader(body),
  ]
  const lines = [
    `${quote(url)},`,
    ...headerLines(all),
    ...bodyLines(body),
    ...(answer === 'stream' ? ['stream=True,'] : []),
  ]
  const call =
    lines.length === 1
      ? `requests.${method.toLowerCase()}(${quote(url)})`
      : `requests.${method.toLowerCase()}(\n${lines.map((line) => `    ${line}\n`).join('')})`
  return [
    ...(access === 'public' ? [] : ['import os', '']),
    'import requests',
    '',
    `response = ${call}`,
    'response.raise_for_status()',
    ...ANSWERS[answer],
  ].join('\n')
}

const ACCESS_HEADERS: Record<SampleRequest['access'], [string, string][]> = {
  public: [],
  token: [['Authorization', 'f"Bearer {os.environ[\'PORTREEVE_TOKEN\']}"']],
  session: [['Cookie', 'os.environ["PORTREEVE_COOKIE"]']],
}

function headerLines(headers: [string, string][]): string[] {
  if (headers.length === 0) return []
  if (headers.length === 1) {
    const [[name, code] = ['', '']] = headers
    return [`headers={${quote(name)}: ${code}},`]
  }
  return ['headers={', ...headers.map(([name, code]) => `    ${quote(name)}: ${code},`), '},']
}

/** `json=` and `files=` set the type of the body themselves. */
function typeHeader(body: SampleBody | null): [string, string][] {
  const isSet = !body || body.kind === 'json' || body.type === 'multipart/form-data'
  return isSet ? [] : [['Content-Type', quote(body.type)]]
}

function bodyLines(body: SampleBody | null): string[] {
  if (!body) return []
  if (body.kind === 'json') return [`json=${literal(body.value, STYLE, 4, 4)},`]
  if (body.kind === 'text') return [`data=${quote(body.text)}.encode(),`]
  const file = `open("${UPLOAD_FILE}", "rb")`
  return [body.type === 'multipart/form-data' ? `files={"files": ${file}},` : `data=${file},`]
}

const ANSWERS: Record<SampleRequest['answer'], string[]> = {
  json: ['print(response.json())'],
  text: ['print(response.text)'],
  stream: ['for line in response.iter_lines(decode_unicode=True):', '    print(line)'],
  file: [`with open("${DOWNLOAD_FILE}", "wb") as file:`, '    file.write(response.content)'],
  none: ['print(response.status_code)'],
}
