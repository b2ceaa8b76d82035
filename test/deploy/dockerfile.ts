export type Stage = {
  /** What it begins from. */
  from: string
  /** What others call it; empty for the last. */
  name: string
  /** Every instruction but RUN, as `[keyword, rest]`. */
  instructions: [keyword: string, rest: string][]
  /** Every RUN, as a shell reads it. */
  runs: string[]
}

/** The stages of a Dockerfile, with continued lines joined and comments gone. */
export function stagesOf(text: string): Stage[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  const stages: Stage[] = []
  for (const line of lines) {
    const [, keyword = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
    if (keyword === 'FROM') {
      const [from = '', , name = ''] = rest.replace(/^--platform=\S+ /, '').split(' ')
      stages.push({ from, name, instructions: [], runs: [] })
    } else if (keyword === 'RUN') stages.at(-1)?.runs.push(rest)
    else if (keyword) stages.at(-1)?.instructions.push([keyword, rest])
  }
  return stages
}
