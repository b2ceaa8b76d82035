// Reads every text that people see, for the wording test: the interface, the server's messages, the
// command line and the docs.
import { globSync, readFileSync } from 'node:fs'
import { parseAst } from 'rolldown/parseAst'

/** A text that people read, and where it stands. */
export type Text = {
  file: string
  line: number
  text: string
  kind: 'heading' | 'prose' | 'literal' | 'jsx'
}

type Node = { type: string; start: number; [key: string]: unknown }

const DOCS = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'CHANGELOG.md']

/** Rules of CONTRIBUTING.md that a pattern can hold. Each names what to write instead. */
export const RULES: { pattern: RegExp; instead: string; kinds?: Text['kind'][] }[] = [
  {
    pattern: /^(?:What|Who|Where|How|Why|When|Which)\b/,
    instead: 'a noun phrase as a heading',
    kinds: ['heading'],
  },
  {
    pattern: /\b(?:is|are|was|were) to (?:be )?[a-z]+/i,
    instead: 'an imperative or the plain present',
  },
  {
    pattern: /\b(?:is|are|was|were) (?:said|told|asked for)\b/i,
    instead: 'show, report, notify, request',
  },
  { pattern: /\blook(?:ed|s|ing)? at\b/i, instead: 'check, checked, checking' },
  { pattern: /\bonce more\b/i, instead: 'again' },
  { pattern: /\banew\b/i, instead: 'again, new' },
  { pattern: /\bno such\b/i, instead: '“X not found” or “X does not exist”' },
  { pattern: /\bunder way\b/i, instead: 'in progress' },
  { pattern: /\bwaits? for you\b/i, instead: 'needs your action' },
  {
    pattern: /\bnobody\b|\bsomebody\b|\bwhoever\b/i,
    instead: 'the actor: a client, a user, no account',
  },
  { pattern: /\bany (?:more|longer)\b/i, instead: '“no longer”, or say what changed' },
  { pattern: /\bE-mail|\be-mail|\b[Mm]ail address/, instead: 'email, email address' },
  { pattern: /\d %/, instead: '95% without a space' },
  { pattern: /\b[Bb]lacklist(?:s|ed|ing)?\b/, instead: 'blocklist, listed' },
  { pattern: /\b[Ww]hitelist(?:s|ed|ing)?\b/, instead: 'allowlist' },
]

/** Every text of the interface, the server's messages, the command line and the docs. */
export function readTexts(): Text[] {
  const docs = [...DOCS, ...globSync('docs/**/*.md')]
  const sources = globSync(['src/**/*.ts', 'web/src/**/*.{ts,tsx}']).filter(
    (file) => !isGenerated(file),
  )
  return [
    ...docs.flatMap((file) => textsOfDocument(file)),
    ...sources.flatMap((file) => textsOfSource(file)),
  ]
}

const isGenerated = (file: string) => /src\/store\/(tables\.ts|migrations\/)/.test(file)

/** A document's prose and headings, without code. */
function textsOfDocument(file: string): Text[] {
  let isCode = false
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((source, index): Text[] => {
      if (/^\s*```/.test(source)) isCode = !isCode
      if (isCode) return []
      const [, heading] = /^#+ (.*)$/.exec(source) ?? []
      const text = (heading ?? source).replace(/`[^`]*`/g, '`…`').replace(/\]\([^)]*\)/g, ']')
      return text === ''
        ? []
        : [{ file, line: index + 1, text, kind: heading === undefined ? 'prose' : 'heading' }]
    })
}

/** The literals of a source file that hold a sentence or a label, and the texts of its elements. */
function textsOfSource(file: string): Text[] {
  const source = readFileSync(file, 'utf8')
  const texts: Text[] = []
  const add = (node: Node, text: string, kind: Text['kind']) => {
    const plain = text.replace(/`[^`]*`/g, '`…`').trim()
    if (/[A-Za-z]{2}/.test(plain))
      texts.push({ file, line: lineAt(source, node.start), text: plain, kind })
  }
  walk(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node, (node) => {
    if (node.type === 'JSXText') add(node, String(node['value']), 'jsx')
    if (node.type === 'Literal' && typeof node['value'] === 'string' && /\s/.test(node['value']))
      add(node, node['value'], 'literal')
    // A tagged template may contain escapes that are none, such as \1: it has no text then.
    const { cooked = null } = (node['value'] ?? {}) as { cooked?: string | null }
    if (node.type === 'TemplateElement' && cooked !== null) add(node, cooked, 'literal')
  })
  return texts
}

/** Calls `visit` for every node but types, imports, directives and SQL. */
function walk(node: Node, visit: (node: Node) => void): void {
  if (/^(?:TS|Import|ExportAll)/.test(node.type) && !/^TS(?:As|NonNull|Satisfies)/.test(node.type))
    return
  if (node.type === 'TaggedTemplateExpression' && (node['tag'] as Node)['name'] === 'sql') return
  visit(node)
  for (const child of Object.values(node)) {
    for (const one of Array.isArray(child) ? (child as unknown[]) : [child])
      if (isNode(one)) walk(one, visit)
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

const lineAt = (source: string, offset: number) => source.slice(0, offset).split('\n').length
