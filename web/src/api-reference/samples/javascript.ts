import { literal, type LiteralStyle } from './literal.ts'
import {
  DOWNLOAD_FILE,
  UPLOAD_FILE,
  type SampleBody,
  type SampleRequest,
} from './sample-request.ts'

const quote = (text: string) =>
  `'${text
    .replaceAll('\\', '\\\\')
    .replaceAll("'", String.raw`\'`)
    .replaceAll('\n', String.raw`\n`)}'`

const STYLE: LiteralStyle = {
  quote,
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name)),
  words: { true: 'true', false: 'false', null: 'null' },
}

/** The request with `fetch`, as a module for Node.js. */
export function javascriptSample(request: SampleRequest): string {
  const { method, url, headers, body, answer, access } = request
  const lines = [
    ...(method === 'GET' ? [] : [`method: '${method}',`]),
    ...headerLines([
      ...ACCESS_HEADERS[access],
      ...headers.map(([name, value]) => [STYLE.key(name), quote(value)] as [string, string]),
      ...typeHeader(body),
    ]),
    ...(body ? [`body: ${bodyCode(body)},`] : []),
  ]
  const needsFiles = body?.kind === 'file' || answer === 'file'
  const options = lines.length === 0 ? '' : `, {\n${lines.map((line) => `  ${line}\n`).join('')}}`
  return [
    ...(needsFiles ? [FILE_IMPORTS[fileUse(request)], ''] : []),
    ...(body?.kind === 'file' && body.type === 'multipart/form-data' ? FORM_LINES : []),
    `const response = await fetch(${quote(url)}${options})`,
    ...ANSWERS[answer],
  ].join('\n')
}

const fileUse = ({ body, answer }: SampleRequest) =>
  body?.kind !== 'file' ? 'write' : answer === 'file' ? 'both' : 'read'

const FILE_IMPORTS = {
  read: "import { openAsBlob } from 'node:fs'",
  write: "import { writeFile } from 'node:fs/promises'",
  both: "import { openAsBlob } from 'node:fs'\nimport { writeFile } from 'node:fs/promises'",
}

const FORM_LINES = [
  'const form = new FormData()',
  `form.append('files', await openAsBlob('${UPLOAD_FILE}'), '${UPLOAD_FILE}')`,
  '',
]

const ACCESS_HEADERS: Record<SampleRequest['access'], [string, string][]> = {
  public: [],
  token: [['Authorization', '`Bearer ${process.env.PORTREEVE_TOKEN}`']],
  session: [['Cookie', 'process.env.PORTREEVE_COOKIE']],
}

function headerLines(headers: [string, string][]): string[] {
  if (headers.length === 0) return []
  if (headers.length === 1) {
    const [[name, code] = ['', '']] = headers
    return [`headers: { ${name}: ${code} },`]
  }
  return ['headers: {', ...headers.map(([name, code]) => `  ${name}: ${code},`), '},']
}

function typeHeader(body: SampleBody | null): [string, string][] {
  if (!body || (body.kind === 'file' && body.type === 'multipart/form-data')) return []
  return [["'Content-Type'", quote(body.kind === 'json' ? 'application/json' : body.type)]]
}

function bodyCode(body: SampleBody): string {
  if (body.kind === 'json') return `JSON.stringify(${literal(body.value, STYLE, 2, 2)})`
  if (body.kind === 'text') return quote(body.text)
  return body.type === 'multipart/form-data' ? 'form' : `await openAsBlob('${UPLOAD_FILE}')`
}

const FAIL_TEXT = 'if (!response.ok) throw new Error(await response.text())'
const ANSWERS: Record<SampleRequest['answer'], string[]> = {
  json: [
    'const result = await response.json()',
    'if (!response.ok) throw new Error(result.error)',
    'console.log(result)',
  ],
  text: [FAIL_TEXT, 'console.log(await response.text())'],
  stream: [
    FAIL_TEXT,
    'for await (const text of response.body.pipeThrough(new TextDecoderStream())) {',
    '  console.log(text)',
    '}',
  ],
  file: [FAIL_TEXT, `await writeFile('${DOWNLOAD_FILE}', await response.bytes())`],
  none: ['console.log(response.status)'],
}
