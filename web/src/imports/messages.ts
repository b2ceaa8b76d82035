import { counted, numberText } from '../ui/text/format.ts'
import type { ImportReport } from '../../../src/http/shapes.ts'
import type { LineProblem } from './parse-lines.ts'

export const importDialog = {
  paste: { hosts: 'One host or address per line', domains: 'One domain per line' },
  example: 'mail.example.com, outgoing mail\n192.0.2.25\n# a comment',
  exampleDomains: 'example.com\nhttps://www.example.net/\npostmaster@example.org',
  choose: 'Choose a file',
  drop: 'Or drop it here: CSV or text, one name a line.',
  tooLarge: (name: string) => `${name} is larger than 200 kB.`,
  unreadable: (name: string) => `${name} couldn’t be read.`,
  preview: 'Preview',
  columns: ['Line', 'Name', 'Result'],
  ready: 'Ready',
  close: 'Close',
  pasted: (all: number, first: number) =>
    `You pasted ${numberText(all)}. The first ${numberText(first)} are added now, the rest right after.`,
  summary: (ready: number, problems: number) =>
    [
      `${numberText(ready)} ready to add`,
      problems > 0 && `${counted(problems, 'line')} with a problem`,
    ]
      .filter(Boolean)
      .join(', ') + '.',
  truncated: (shown: number, all: number) =>
    `The first ${numberText(shown)} of ${counted(all, 'line')} are shown.`,
} as const

/** The verdict on a line before it is sent. */
export function describeProblem(problem: LineProblem): string {
  return problem.kind === 'duplicate' ? `Same as line ${problem.of}` : PROBLEMS[problem.kind]
}

const PROBLEMS: Record<Exclude<LineProblem['kind'], 'duplicate'>, string> = {
  'not-a-name': 'Not a host name',
  'not-a-domain': 'Not a domain',
  'label-too-long': 'Label longer than 100 characters',
}

export const resultNames = {
  added: 'Added',
  exists: 'Already there',
  invalid: 'Not added',
  limit: 'Not added',
} satisfies Record<ImportReport['results'][number]['status'], string>

/** What an import did, in one sentence. */
export function describeImport({ added, exists, invalid, limit }: ImportReport): string {
  const failed = invalid + limit
  const parts = [
    `${numberText(added)} added`,
    exists > 0 && `${numberText(exists)} already there`,
    failed > 0 && `${numberText(failed)} not added`,
  ]
  return `${parts.filter(Boolean).join(', ')}.`
}
