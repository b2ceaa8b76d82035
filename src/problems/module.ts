import type { Config } from '../config.ts'
import type { Routes } from '../http/scopes.ts'
import type { ProblemDeps } from './read-problems.ts'
import { problemRoute } from './routes.ts'

type ProblemOptions = Pick<ProblemDeps, 'db' | 'secretKey' | 'log'> & {
  config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'BASE_URL'>
}

/** Finds what needs a person, in the data of all modules. */
export function createProblemsModule({ config, ...options }: ProblemOptions) {
  const deps = {
    ...options,
    relay: config.SMTP_URL ? { smtpUrl: config.SMTP_URL, from: config.MAIL_FROM } : null,
    baseUrl: config.BASE_URL,
  }
  return {
    routes: {
      account: (app) => problemRoute(app, deps),
    } satisfies Routes<unknown>,
  }
}
