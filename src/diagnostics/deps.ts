import type { PrivateTargets } from '../config.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'

/** What checks are given: how to ask the DNS, and where they may connect. */
export type CheckDeps = {
  resolver: Resolver
  allowPrivate: PrivateTargets
  log: Logger
}
