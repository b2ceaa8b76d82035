import { useQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { accountQuery } from '../queries.ts'
import { Icon } from '../ui/icons.tsx'
import { Wordmark } from '../ui/mark.tsx'
import { ThemeSwitch } from '../ui/theme-switch.tsx'
import { ENTRIES } from './navigation.ts'
import classes from './own-frame.module.css'
import { SkipLink } from './skip-link.tsx'

/** Around the screens of somebody who is signed in: navigation at the side, or below on a phone. */
export function OwnFrame() {
  return (
    <div className={classes.frame}>
      <SkipLink />
      <div className={classes.side}>
        <header className={classes.header}>
          <Link to="/home" className={classes.name}>
            <Wordmark />
          </Link>
        </header>
        <Navigation />
        <footer className={classes.foot}>
          <Person />
          <ThemeSwitch />
        </footer>
      </div>
      <main id="main" className={classes.main}>
        <Outlet />
      </main>
    </div>
  )
}

function Navigation() {
  return (
    <nav className={classes.navigation} aria-label="Main">
      <ul>
        {ENTRIES.map(({ to, label, icon }) => (
          <li key={to}>
            <Link to={to} className={classes.entry}>
              <Icon name={icon} />
              {label}
            </Link>
          </li>
        ))}
      </ul>
      <a href="/docs" className={`${classes.entry} ${classes.beside}`}>
        <Icon name="book" />
        API documentation
      </a>
    </nav>
  )
}

function Person() {
  const { data: account } = useQuery(accountQuery)
  if (!account) return null
  return (
    <p className={classes.person} title={account.email}>
      {account.name && <strong>{account.name}</strong>}
      <span>{account.email}</span>
    </p>
  )
}
