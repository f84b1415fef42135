// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;
import {ERC20 as Token} from "./ERC20.sol";

uint256 constant LIMIT = 10;
type Price is uint128;
error Unauthorized(address caller);
struct Global { uint256 a; }
enum Level { Low, High }
function free(uint256 x) pure returns (uint256) { return x; }
using { free } for uint256 global;

interface IShape { function area() external view returns (uint256); event Drawn(); }
library Math { function max(uint256 a, uint256 b) internal pure returns (uint256) { return a > b ? a : b; } }

abstract contract Order is Token, IShape {
    using Math for uint256;
    enum State { Open, Paid }
    struct Item { address owner; uint256 price; mapping(address user => uint256 balance) balances; }
    mapping(address => mapping(uint256 => Item)) public items;
    address public immutable owner;
    uint256 private constant FEE = 1 gwei;
    event Paid(address indexed from, uint256 amount);
    error TooSmall(uint256 sent, uint256 wanted);
    modifier onlyOwner() virtual { if (msg.sender != owner) revert Unauthorized(msg.sender); _; }
    constructor(address owner_) payable Token("a", "b") { owner = owner_; }
    function pay(uint256 id) external payable virtual override(Token, IShape) onlyOwner returns (bool ok) {
        uint256 local = 1;
        unchecked { local++; }
        try this.area() returns (uint256 v) { local = v; } catch Error(string memory) {} catch {}
        assembly ("memory-safe") { let x := mload(0x40) }
        emit Paid({from: msg.sender, amount: local});
        (ok, ) = owner.call{value: 1 ether}("");
    }
    receive() external payable {}
    fallback() external {}
}
