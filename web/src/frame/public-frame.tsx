import { useQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { inService } from '../base-path.ts'
import { serviceQuery } from '../queries.ts'
import { Wordmark } from '../ui/brand/logo.tsx'
import { ThemeSwitch } from '../ui/theme/theme-switch.tsx'
import classes from './public-frame.module.css'
import { SkipLink } from './skip-link.tsx'
import { inGuide } from './guide-page.ts'
import { frame } from './messages.ts'

/** The frame of public screens: the name above, the version below. */
export function PublicFrame({ children = <Outlet /> }: { children?: ReactNode }) {
  const { data: service } = useQuery(serviceQuery)
  return (
    <div className={classes.frame}>
      <SkipLink />
      <header className={classes.header}>
        <Link to="/" className={classes.name}>
          <Wordmark />
        </Link>
        <ThemeSwitch />
      </header>
      <main id="main" className={classes.main}>
        {children}
      </main>
      <footer className={classes.footer}>
        <span>{frame.version(service?.version)}</span>
        <a href={inGuide()}>{frame.guide}</a>
        <a href={inService('/docs')}>{frame.documentation}</a>
        <a href={inService('/openapi.json')}>{frame.openApi}</a>
      </footer>
    </div>
  )
}
