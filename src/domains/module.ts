import type { EventStreams } from '../http/events/event-streams.ts'
import type { Routes } from '../http/scopes.ts'
import { createDomainLists } from '../protocols/dnsbl/domain-lists.ts'
import { createRegistrationLookup } from './registration-lookup.ts'
import { domainRoutes, type DomainRoutesDeps } from './routes.ts'

export type DomainsOptions = Omit<DomainRoutesDeps, 'domainLists' | 'registrations'> &
  Partial<Pick<DomainRoutesDeps, 'domainLists' | 'registrations'>>

/** One picture per domain. */
export function createDomainsModule(options: DomainsOptions) {
  const deps = {
    ...options,
    domainLists: options.domainLists ?? createDomainLists(options.blocklists),
    registrations: options.registrations ?? createRegistrationLookup(options),
  }
  return {
    routes: {
      account: (app, { events }) => domainRoutes(app, { ...deps, events }),
    } satisfies Routes<{ events: EventStreams }>,
  }
}
