import { callerOf } from '../http/auth.ts'
import { responses, Success } from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import { readProblems, type ProblemDeps } from './read-problems.ts'
import { ProblemList } from './shapes.ts'

/** `GET /api/v1/problems`: what needs a person in the workspace. */
export function problemRoute(app: App, deps: ProblemDeps): void {
  app.get(
    '/api/v1/problems',
    {
      config: { limit: 'problem lists' },
      schema: {
        summary: 'List the problems of the workspace',
        operationId: 'listProblems',
        description:
          'The problems that the dashboard shows and counts: listed hosts, broken domains, certificates, failed migrations of the last two weeks, ' +
          'unreadable report mailboxes, alert channels and delistings that need your action. API tokens get those of the modules that their scopes allow.',
        response: responses(Success(ProblemList)),
      },
    },
    async (request) => ({ success: true, data: await readProblems(deps, callerOf(request)) }),
  )
}
