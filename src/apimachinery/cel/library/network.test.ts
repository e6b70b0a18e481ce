// IP addresses and CIDRs.
import { testRows } from '../rows.suite.ts';

const notAnAddress = (text: string): string =>
  `!IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): unable to parse IP`;

testRows('ip reads addresses', [
  ["isIP('1.2.3.4')", 'true'], ["isIP('::1')", 'true'], ["isIP('1.2.3')", 'false'], ["isIP('01.2.3.4')", 'false'], ["isIP('256.1.1.1')", 'false'],
  ["isIP('::ffff:1.2.3.4')", 'false'], ["isIP('fe80::1%eth0')", 'false'], ["isIP('1::2::3')", 'false'], ["isIP('')", 'false'],
  ["isIP('1:2:3:4:5:6:7:8')", 'true'],
  ["isIP('1:2:3:4:5:6:1.2.3.4')", 'true'], ["isIP('12345::')", 'false'], ["ip('x')", notAnAddress('x')],
  ["ip('fe80::1%eth0')", '!IP address "fe80::1%eth0" with zone value is not allowed'],
  ["ip('::ffff:1.2.3.4')", '!IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'], ["string(ip('2001:db8:0:0:0:0:0:1'))", '"2001:db8::1"'],
  ["string(ip('1:0:0:2:0:0:0:3'))", '"1:0:0:2::3"'], ["ip('::1') == ip('0:0:0:0:0:0:0:1')", 'true'], ["ip('1.2.3.4') == ip('1.2.3.5')", 'false'],
  ["ip.isCanonical('::1')", 'true'], ["ip.isCanonical('0::1')", 'false'], ["ip.isCanonical('x')", notAnAddress('x')],
]);

testRows('addresses have a family and a scope', [
  ["ip('1.2.3.4').family()", '4'], ["ip('::1').family()", '6'], ["ip('0.0.0.0').isUnspecified()", 'true'], ["ip('127.0.0.1').isLoopback()", 'true'],
  ["ip('::1').isLoopback()", 'true'], ["ip('224.0.0.1').isLinkLocalMulticast()", 'true'], ["ip('ff02::1').isLinkLocalMulticast()", 'true'],
  ["ip('169.254.1.1').isLinkLocalUnicast()", 'true'], ["ip('fe80::1').isLinkLocalUnicast()", 'true'], ["ip('8.8.8.8').isGlobalUnicast()", 'true'],
  ["ip('255.255.255.255').isGlobalUnicast()", 'false'],
]);

testRows('cidr reads ranges', [
  ["isCIDR('10.0.0.0/8')", 'true'], ["isCIDR('10.0.0.0/33')", 'false'], ["isCIDR('10.0.0.0')", 'false'], ["isCIDR('::/0')", 'true'],
  ["isCIDR('::/129')", 'false'],
  ["isCIDR('10.0.0.0/08')", 'false'], ["cidr('192.168.0.0/24').containsIP('192.168.0.9')", 'true'],
  ["cidr('192.168.0.0/24').containsIP(ip('192.168.1.9'))", 'false'],
  ["cidr('192.168.0.0/24').containsIP('x')", '!no such overload'], ["cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", 'true'],
  ["cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))", 'false'], ["cidr('10.0.0.0/8').ip() == ip('10.0.0.0')", 'true'],
  ["cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')", 'true'], ["cidr('10.1.2.3/9').prefixLength()", '9'], ["string(cidr('10.1.2.3/8'))", '"10.1.2.3/8"'],
  ["cidr('2001:db8::/32').containsIP('2001:db8::1')", 'true'], ["cidr('0.0.0.0/0').containsIP('::1')", 'false'],
]);
