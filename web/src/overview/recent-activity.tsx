import { Link } from '@tanstack/react-router'
import { AlertTitle } from '../alerts/alert-title.tsx'
import type { Alert } from '../alerts/api.ts'
import { Ago } from '../ui/text/ago.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Section } from '../ui/layout/page.tsx'
import { overview as messages } from './messages.ts'

const MAX_SHOWN = 6

/** The latest alerts. */
export function RecentActivity({ alerts }: { alerts: Alert[] }) {
  if (alerts.length === 0) return null
  return (
    <Section
      title={messages.recentActivity}
      aside={<Link to="/alerts">{messages.allActivity}</Link>}
    >
      <List>
        {alerts.slice(0, MAX_SHOWN).map((alert) => (
          <ListItem key={alert.id} title={<AlertTitle alert={alert} />}>
            <Ago at={alert.at} />
          </ListItem>
        ))}
      </List>
    </Section>
  )
}
