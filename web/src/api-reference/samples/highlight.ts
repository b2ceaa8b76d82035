export type CodeLanguage = 'shell' | 'javascript' | 'python' | 'json' | 'text'

export type Token = {
  kind: 'plain' | 'string' | 'keyword' | 'number' | 'key' | 'variable'
  text: string
}

const DOUBLE = String.raw`"(?:[^"\\\n]|\\.)*"`
const SINGLE = String.raw`'(?:[^'\\\n]|\\.)*'`
const VARIABLE = String.raw`\$\w+`
const NUMBER = String.raw`\b\d+(?:\.\d+)?\b`

/** One group for each kind of token, in this order; text between matches is plain. */
const RULES: Record<CodeLanguage, [Token['kind'], string][]> = {
  text: [],
  json: [
    ['key', `${DOUBLE}(?=\\s*:)`],
    ['string', DOUBLE],
    ['keyword', String.raw`\b(?:true|false|null)\b`],
    ['number', `-?${NUMBER}`],
  ],
  shell: [
    ['string', String.raw`'[^']*'|"(?:[^"\\]|\\.)*"`],
    ['variable', VARIABLE],
    ['keyword', String.raw`^\s*(?:curl|npx|export)\b|(?<=\s)--?[A-Za-z][\w-]*`],
  ],
  javascript: [
    ['string', `${SINGLE}|\`[^\`]*\``],
    ['keyword', String.raw`\b(?:const|await|for|of|if|throw|new|import|from|true|false|null)\b`],
    ['number', NUMBER],
  ],
  python: [
    ['string', `\\bf?${DOUBLE}|f?${DOUBLE}`],
    ['keyword', String.raw`\b(?:import|for|in|with|as|True|False|None)\b`],
    ['number', NUMBER],
  ],
}

const PATTERNS = new Map<CodeLanguage, RegExp>()

/** Splits code into tokens to color. Together they are the code, unchanged. */
export function highlight(code: string, language: CodeLanguage): Token[] {
  const rules = RULES[language]
  if (rules.length === 0) return [{ kind: 'plain', text: code }]
  const pattern =
    PATTERNS.get(language) ?? new RegExp(rules.map(([, source]) => `(${source})`).join('|'), 'gm')
  PATTERNS.set(language, pattern)
  return split(code, pattern, (match) => {
    const index = match.slice(1).findIndex((group) => group !== undefined)
    const token: Token = { kind: rules[index]?.[0] ?? 'plain', text: match[0] }
    return language === 'shell' && token.kind === 'string' ? shellString(token.text) : [token]
  })
}

function split(
  code: string,
  pattern: RegExp,
  tokensOf: (match: RegExpExecArray) => Token[],
): Token[] {
  const tokens: Token[] = []
  let end = 0
  for (const match of code.matchAll(pattern)) {
    if (match.index > end) tokens.push({ kind: 'plain', text: code.slice(end, match.index) })
    tokens.push(...tokensOf(match))
    end = match.index + match[0].length
  }
  if (end < code.length) tokens.push({ kind: 'plain', text: code.slice(end) })
  return tokens
}

/** A body in single quotes is JSON; in double quotes, the shell replaces variables. */
function shellString(text: string): Token[] {
  if (text.startsWith("'{")) {
    const quote: Token = { kind: 'string', text: "'" }
    return [quote, ...highlight(text.slice(1, -1), 'json'), quote]
  }
  if (!text.startsWith('"')) return [{ kind: 'string', text }]
  const parts = split(text, new RegExp(VARIABLE, 'g'), ([name]) => [
    { kind: 'variable', text: name },
  ])
  return parts.map((part) => (part.kind === 'plain' ? { ...part, kind: 'string' } : part))
}
