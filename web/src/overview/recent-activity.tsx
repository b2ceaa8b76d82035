import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { AlertTitle } from '../alerts/alert-title.tsx'
import { alertsQuery } from '../alerts/api.ts'
import { Ago } from '../ui/text/ago.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Section } from '../ui/layout/page.tsx'
import { overview as messages } from './messages.ts'

const MAX_SHOWN = 5

/** The latest alerts. */
export function RecentActivity() {
  const { data } = useQuery(alertsQuery({}))
  const alerts = data?.alerts ?? []
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
            {alert.text && ` · ${alert.text}`}
          </ListItem>
        ))}
      </List>
    </Section>
  )
}
