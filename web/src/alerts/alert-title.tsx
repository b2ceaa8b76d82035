import { Link } from '@tanstack/react-router'
import type { Alert } from './api.ts'
import { pathOf } from '../base-path.ts'

/** The title, linked to the alert’s page. Alerts from before there were links have none. */
export function AlertTitle({ alert: { title, url } }: { alert: Pick<Alert, 'title' | 'url'> }) {
  return url ? <Link to={pathOf(url)}>{title}</Link> : title
}
