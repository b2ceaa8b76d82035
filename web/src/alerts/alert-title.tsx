import { Link } from '@tanstack/react-router'
import type { Alert } from './api.ts'
import { pathOf } from './messages.ts'

/** What happened, as the way to what it is about. Alerts that were raised before there were links have none. */
export function AlertTitle({ alert: { title, url } }: { alert: Pick<Alert, 'title' | 'url'> }) {
  return url ? <Link to={pathOf(url)}>{title}</Link> : title
}
