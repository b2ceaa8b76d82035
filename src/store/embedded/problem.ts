import { Fault, type FaultCode } from '../../errors.ts'
import { deniedSentence, readOnlySentence } from '../data-dir.ts'

type Trouble = {
  pattern: RegExp
  code: FaultCode
  sentence: (folder: string, match: RegExpExecArray) => string
}

/** Error messages of PostgreSQL’s programs, and how to fix them. */
const TROUBLES: Trouble[] = [
  {
    pattern: /no space left on device|disk quota exceeded/i,
    code: 'unavailable',
    sentence: (folder) =>
      `The disk that holds ${folder} is full. Free some space and start again: nothing is lost.`,
  },
  {
    pattern: /lock file "[^"]*" already exists|pre-existing shared memory block/,
    code: 'conflict',
    sentence: (folder) =>
      `Another PostgreSQL uses ${folder}. Stop the Portreeve it belongs to, or choose another DATA_DIR.`,
  },
  {
    pattern: /error while loading shared libraries: ([^:]+):/,
    code: 'unavailable',
    sentence: (_, match) =>
      `The shipped PostgreSQL needs ${match[1]}, which this system lacks. Install it, or set DATABASE_URL to a PostgreSQL 15 or later.`,
  },
  {
    pattern: /read-only file system/i,
    code: 'unavailable',
    sentence: (folder) => readOnlySentence(folder),
  },
  {
    pattern: /permission denied|operation not permitted|no such file or directory, mkdir/i,
    code: 'unavailable',
    sentence: (folder) => deniedSentence(folder),
  },
  {
    pattern: /Cannot allocate memory|could not (?:create|map) (?:anonymous )?shared memory/,
    code: 'unavailable',
    sentence: () => 'There is too little memory to start PostgreSQL: it needs some 100 MB.',
  },
]

/**
 * Explains why a program of PostgreSQL failed.
 * @param output the last lines it wrote
 */
export function explainFailure(program: string, folder: string, output: string): Fault {
  const said = output.trim().split('\n').slice(-3).join(' ') || 'nothing'
  return (
    known(folder, output) ??
    new Fault('unavailable', `PostgreSQL’s ${program} on ${folder} ended. It said: ${said}`)
  )
}

/** Explains an error of the operating system; returns any other error unchanged. */
export function explainSystemError(error: unknown, folder: string): unknown {
  const refused = error instanceof Error && 'syscall' in error
  return (refused && known(folder, error.message)) || error
}

function known(folder: string, output: string): Fault | null {
  for (const { pattern, code, sentence } of TROUBLES) {
    const match = pattern.exec(output)
    if (match) return new Fault(code, sentence(folder, match), { cause: output })
  }
  return null
}
