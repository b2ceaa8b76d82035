import { AttackViews } from '../attacks/attack-views.tsx'
import { Allowlist } from '../attacks/fleet/allowlist.tsx'
import { Badge } from '../attacks/fleet/badge.tsx'
import { BanTable } from '../attacks/fleet/ban-table.tsx'
import { BouncerKeys } from '../attacks/fleet/bouncer-keys.tsx'
import { CrowdSec } from '../attacks/fleet/crowdsec.tsx'
import { History } from '../attacks/fleet/history.tsx'
import { fleet as messages } from '../attacks/fleet/messages.ts'
import { NewBan } from '../attacks/fleet/new-ban.tsx'
import { Rules } from '../attacks/fleet/rules.tsx'
import { FleetServers } from '../attacks/fleet/servers.tsx'
import { Columns, Page } from '../ui/layout/page.tsx'

export function Screen() {
  return (
    <Page wide title={messages.title} lead={messages.lead}>
      <AttackViews />
      <BanTable />
      <Columns>
        <NewBan />
        <Allowlist />
      </Columns>
      <Columns>
        <Rules />
        <CrowdSec />
      </Columns>
      <BouncerKeys />
      <Badge />
      <FleetServers />
      <History />
    </Page>
  )
}
