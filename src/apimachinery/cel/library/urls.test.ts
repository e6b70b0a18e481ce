// URLs: what Go takes for one, and their parts.
import { testRows } from '../rows.suite.ts';

testRows('isURL', [
  ["isURL('https://a.b:80/c?d=e#f')", 'true'], ["isURL('/path')", 'true'], ["isURL('../x')", 'false'], ["isURL('')", 'false'], ["isURL('a:b:c')", 'true'],
  ["isURL('http://[::1]/')", 'true'], ["isURL('http://[::1')", 'false'], ["isURL('http://a:x/')", 'false'], ["isURL('http://a b/')", 'false'],
  ["isURL('http://a/%zz')", 'false'], ["isURL(':x')", 'false'], [String.raw`isURL('http://a/\n')`, 'false'],
]);

testRows('url gives the parts', [
  ["url('https://example.com:80/').getScheme()", '"https"'], ["url('HTTPS://a/').getScheme()", '"https"'], ["url('/path').getScheme()", '""'],
  ["url('https://example.com:80/').getHost()", '"example.com:80"'], ["url('https://example.com:80/').getHostname()", '"example.com"'],
  ["url('https://[::1]:80/').getHostname()", '"::1"'], ["url('https://[::1]/').getHost()", '"[::1]"'], ["url('https://[::1]/').getPort()", '""'],
  ["url('https://example.com:80/').getPort()", '"80"'], ["url('https://user:pw@h/').getHost()", '"h"'],
  ["url('https://a/with space/').getEscapedPath()", '"/with%20space/"'], ["url('https://a').getEscapedPath()", '""'],
  ["url('https://a/?k=1&k=2&x').getQuery()", '{"k": ["1", "2"], "x": [""]}'], ["url('https://a/?a%20b=c+d').getQuery()", '{"a b": ["c d"]}'],
  ["url('/x').getQuery()", '{}'],
  ["url('https://a/') == url('https://a/')", 'true'], ["url('https://a/') == url('https://b/')", 'false'],
  ["url('x')", '!URL parse error during conversion from string: parse "x": invalid URI for request'],
  ["url('http://a:x/')", '!URL parse error during conversion from string: parse "http://a:x/": invalid port ":x" after host'],
  ["url('http://a:b:80/')", '!URL parse error during conversion from string: parse "http://a:b:80/": invalid port ":b:80" after host'],
  ["url('ftp://a:b:80/').getHost()", '"a:b:80"'], ["url('http://a<b/').getHost()", '"a<b"'], ["url('http://a%c3%a4/').getHost()", '"aä"'],
  ["url('http://a%41/')", '!URL parse error during conversion from string: parse "http://a%41/": invalid URL escape "%41"'],
  ["url('http://a[b]/')", '!URL parse error during conversion from string: parse "http://a[b]/": invalid IP-literal'],
  ["url('http://[1.2.3.4]/')", '!URL parse error during conversion from string: parse "http://[1.2.3.4]/": invalid IP-literal'],
  ["url('http://[x]/')", '!URL parse error during conversion from string: parse "http://[x]/": invalid host: ParseAddr("x"): unable to parse IP'],
  ["url('http://[fe80::1%25en0]/').getHost()", '"[fe80::1%en0]"'],
]);
