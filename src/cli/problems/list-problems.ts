import { askService } from '../../net/http/event-stream.ts'
import type { Problem, ProblemList } from '../../problems/shapes.ts'
import { SECOND_MS } from '../../time.ts'
import { apiTokenFrom, serverFrom, serviceUrl } from '../service-access.ts'
import { paint, sanitizeForTerminal } from '../terminal-text.ts'

type ProblemFlags = { server?: string | undefined; 'api-token-file'?: string | undefined }

const REQUEST_TIMEOUT_MS = 60 * SECOND_MS

/** Lists the problems of a workspace. @returns the exit code: 1 for problems, or an incomplete list */
export async function listProblems(flags: ProblemFlags, json: boolean): Promise<number> {
  const url = serviceUrl(serverFrom(flags.server), '/api/v1/problems')
  const token = await apiTokenFrom(flags['api-token-file'])
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  const answer = await askService<{ data: ProblemList }>(url, token, signal, 'data')
  console.log(json ? JSON.stringify(answer) : textOf(answer.data))
  const { count, missing } = answer.data
  return count + missing.length > 0 ? 1 : 0
}

function textOf({ count, problems, setup, administration, missing }: ProblemList): string {
  const title = count === 0 ? 'No problems' : count === 1 ? '1 problem' : `${count} problems`
  const sections: [string, Problem[]][] = [
    [missing.length > 0 ? `${title}. Couldn’t read: ${missing.join(', ')}` : title, problems],
    ['For administrators', administration],
    ['Left to set up', setup],
  ]
  return sections
    .filter(([, rows], at) => at === 0 || rows.length > 0)
    .flatMap(([name, rows]) => ['', `  ${paint('bold', name)}`, ...rows.flatMap(rowsOf)])
    .join('\n')
}

function rowsOf({ tone, sentence, action, url }: Problem): string[] {
  const mark = tone === 'bad' ? paint(['bold', 'red'], '✗') : paint('yellow', '!')
  return ['', `  ${mark} ${sanitizeForTerminal(sentence)}`, `    → ${action}: ${url}`]
}
