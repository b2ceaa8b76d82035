import type { AbuseServices } from '../create-services.ts'
import type { IndicatorList } from './indicators.ts'
import { TLP_AMBER, TLP_WHITE, type Publisher } from './stix.ts'

/** The publisher of the shared list. */
export const sharedPublisher = ({ pageUrl, reportsUrl }: PublisherUrls): Publisher => ({
  scope: `shared ${new URL(reportsUrl).host}`,
  name: `Portreeve at ${new URL(reportsUrl).host}`,
  url: pageUrl,
  marking: TLP_WHITE,
})

/** The publisher of the fleet list of a workspace. */
export const fleetPublisher = (
  { pageUrl, reportsUrl }: PublisherUrls,
  workspaceId: string,
): Publisher => ({
  scope: `fleet ${workspaceId}`,
  name: `Portreeve fleet at ${new URL(reportsUrl).host}`,
  url: pageUrl,
  marking: TLP_AMBER,
})

type PublisherUrls = Pick<AbuseServices, 'pageUrl' | 'reportsUrl'>

/** A list of indicators with its publisher. */
export type Source = { publisher: Publisher; read: () => Promise<IndicatorList> }

export const sharedSource = (abuse: AbuseServices): Source => ({
  publisher: sharedPublisher(abuse),
  read: () => abuse.indicators.shared(),
})

export const fleetSource = (abuse: AbuseServices, workspaceId: string): Source => ({
  publisher: fleetPublisher(abuse, workspaceId),
  read: () => abuse.indicators.fleet(workspaceId),
})
