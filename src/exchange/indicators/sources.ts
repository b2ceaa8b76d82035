import type { AttackList } from '../../abuse/attack-list.ts'
import type { Fleets } from '../../fleet/fleet.ts'
import type { IndicatorList, Indicators } from './indicators.ts'
import { TLP_AMBER, TLP_WHITE, type Publisher } from './stix.ts'

/** The publisher of the shared list. */
const sharedPublisher = ({ pageUrl, reportsUrl }: PublisherUrls): Publisher => ({
  scope: `shared ${new URL(reportsUrl).host}`,
  name: `Portreeve at ${new URL(reportsUrl).host}`,
  url: pageUrl,
  marking: TLP_WHITE,
})

/** The publisher of the fleet list of a workspace. */
const fleetPublisher = (
  { pageUrl, reportsUrl }: PublisherUrls,
  workspaceId: string,
): Publisher => ({
  scope: `fleet ${workspaceId}`,
  name: `Portreeve fleet at ${new URL(reportsUrl).host}`,
  url: pageUrl,
  marking: TLP_AMBER,
})

type PublisherUrls = Pick<AttackList, 'pageUrl' | 'reportsUrl'>

export type SourceDeps = PublisherUrls & {
  indicators: Indicators
  fleets: Pick<Fleets, 'followers'>
}

/** A list of indicators with its publisher. */
export type Source = { publisher: Publisher; read: () => Promise<IndicatorList> }

export const sharedSource = (deps: SourceDeps): Source => ({
  publisher: sharedPublisher(deps),
  read: () => deps.indicators.shared(),
})

export const fleetSource = (deps: SourceDeps, workspaceId: string): Source => ({
  publisher: fleetPublisher(deps, workspaceId),
  read: () => deps.indicators.fleet(workspaceId),
})
